# SPDX-License-Identifier: GPL-2.0-only
#
# Raw bytes for the golden tests of report --raw: Arm SPE records, PEBS records, and the same SPE bytes in a
# perf.data. It knows the formats by itself and shares nothing with the program.
use strict;
use warnings;
no warnings "portable";
require "$ENV{GOLDEN}/perfdata.pl";

# A record: PC, virtual address, load or store, data source, events, task, ticks.
sub spe_record {
	my ($i) = @_;
	my $va = 0xaaaa00000000 + ($i % 8) * 0x40000 + $i * 64;
	return pack('CQ', 0xb0, 0x8000000000401000 + 4 * $i) . pack('CQ', 0xb2, $va) . pack('CC', 0x49, $i % 4 == 3) .
		pack('Cv', 0x99, 20 + $i) . pack('CC', 0x43, $i % 3 ? 0 : 9) . pack('Cv', 0x52, 2) .
		pack('CV', 0x64, 700 + $i % 2) . pack('CQ', 0x71, 1_000_000 + 1000 * $i) . "\0" x ($i % 3);
}

sub spe_bytes {
	return join '', map { spe_record($_) } 0 .. 199;
}

# PEBS: registers are as good as their numbers. skl: 25 words.
sub pebs_skl {
	my ($i) = @_;
	my $addr = $i % 10 == 9 ? 0 : 0x7f0000000000 + ($i % 4) * 0x400000 + 8 * $i;
	return pack('Q*', 0x246, 0x401003 + $i, 1 .. 16, 1, $addr, 0x05, 30 + $i, 0x401000 + $i, 0, 5_000_000 + 2000 * $i);
}

# Groups memory and registers: 208 bytes; every third one has the basic words only.
sub pebs_adaptive {
	my ($i) = @_;
	my $with = $i % 3 != 2;
	my $basic = pack('Q*', ($with ? 208 << 48 | 3 : 32 << 48), 0x401000 + $i, 1, 5_000_000 + 2000 * $i);
	return $basic unless $with;
	return $basic . pack('Q*', 0x7f0000000000 + ($i % 4) * 0x400000 + 8 * $i, 0x05, (30 + $i) << 32 | 5, 0) .
		pack('Q*', 0x246, 0x401003 + $i, 1 .. 16);
}

sub put {
	my ($path, $bytes) = @_;
	open my $out, '>:raw', $path or die "$path: $!";
	print $out $bytes or die "$path: $!";
	close $out or die "$path: $!";
}

# The bytes as perf would have stored them: what made them, the clock, a piece.
sub in_perf_data {
	my ($bytes) = @_;
	my $f = perfdata('spe' => {type => 9, config => 1, freq => 1});
	$bytes .= "\0" x (-length($bytes) % 8);
	$f->record(70, 0, pack('LLQQ', 4, 0, 9, 0));
	$f->record(79, 0, pack('QQQ', 30, 1 << 30, 0)); # a tick is a nanosecond
	$f->record(71, 0, pack('QQQLLLL', length $bytes, 0, 0, 0, 0xffffffff, 0xffffffff, 0));
	$f->{data} .= $bytes;
	return $f;
}

1;
