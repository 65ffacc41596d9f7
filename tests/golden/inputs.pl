# SPDX-License-Identifier: GPL-2.0-only
#
# The recordings that several golden tests report.
use strict;
use warnings;
require "$ENV{GOLDEN}/perfdata.pl";

# A sequence that is the same everywhere.
my $state = 12345;
sub rnd {
	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return ($state >> 4) % $_[0];
}

# Two processes, faults and PMU loads; losses between 600 and 700 ms, nothing sampled from 300 to 400.
sub busy {
	my $f = perfdata('page-faults:u' => {type => 1, config => 2, period => 1},
		'cpu/mem-loads/pp' => {type => 4, config => 0x1cd, freq => 4000, flags => 2 << 15, also => 1 << 14 | 1 << 15});
	$f->comm(7, "first one", 0);
	$f->comm(8, "\x1b[31m\xff,\"x\"", 0);
	for my $pid (7, 8) {
		$f->map($pid, 0x555500000000, 0x5000, "/usr/bin/program", 0, 5);
		$f->map($pid, 0x555500005000, 0x2000, "/usr/bin/program", 0, 3);
		$f->map($pid, 0x555500100000, 0x21000, "//anon", 0, 3);
		$f->map($pid, 0x7ff000000000, 0x200000, "/usr/lib/x86_64-linux-gnu/liblong name.so.6.0.0", 0, 5);
		$f->map($pid, 0x7ffe00000000, 0x21000, "[stack]", 0, 3);
	}
	for my $i (0 .. 999) {
		my $pid = $i % 50 == 49 ? 8 : 7;
		$f->lost(12, 699.5, 0) if $i == 700;
		$f->map(7, 0x555500100000, 0x400000, "[heap]", 200, 3) if $i == 200;
		$f->map(7, 0x7fe000000000, 0x100000, "//anon", 500, 3) if $i == 500;
		next if $i >= 300 && $i < 400 || $i >= 600 && $i < 700;
		if ($i % 10 == 0) { # a page at a time
			$f->sample('page-faults:u', pid => $pid, time => $i, addr => 0x555500100000 + ($i < 200 ? $i / 10 : $i) * 0x1000);
		}
		my $where = rnd(10);
		my $addr = $where < 6 ? 0x555500100000 + rnd($i < 200 ? 0x20000 : 0x3f0000) :
			$where < 8 ? 0x7ffe00010000 + rnd(0x1000) :
			$where == 8 && $i >= 500 ? 0x7fe000000000 + rnd(0x100000 - 8) : $where == 8 ? 0 : 0x777700000000;
		$f->sample('cpu/mem-loads/pp', pid => $pid, time => $i + 0.5, addr => $addr, weigh => 1000 + rnd(100),
			weight => 20 + rnd(300), data_src => rnd(3) ? 2 : 4, cpu => rnd(2));
	}
	return $f;
}

# Physical addresses, from one process.
sub physical {
	my $f = perfdata('mem' => {type => 4, config => 0x1cd, period => 100, also => 1 << 19});
	$f->comm(7, "paged", 0);
	$f->map(7, 0x100000, 0x100000, "[heap]", 0);
	for my $i (0 .. 99) {
		$f->sample('mem', pid => 7, time => $i, addr => 0x100000 + rnd(0xff000), phys => 0x140000000 + rnd(0x2800000));
	}
	$f->sample('mem', pid => 7, time => 100, phys => 0x900000000); # only a physical address
	return $f;
}

1;
