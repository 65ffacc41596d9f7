# SPDX-License-Identifier: GPL-2.0-only
#
# Makes small perf.data files for the golden tests (perl-base is on every Debian). It knows the format by
# itself and shares nothing with the program:
#
#	require "$ENV{GOLDEN}/perfdata.pl";
#	my $f = perfdata(faults => {type => 1, config => 2, period => 1}, ...);
#	$f->comm(7, "name", TIME); $f->map(7, START, LENGTH, "[heap]", TIME);
#	$f->sample("faults", pid => 7, addr => ADDR, time => TIME);
#	$f->write("input.data");
#
# Times are in ms after 1000 s. Every event has IDENTIFIER|IP|TID|TIME|ADDR|CPU|PERIOD, and what its
# `also` adds (bits in the kernel's order behind those).
package PerfData;
use strict;
use warnings;

my ($IP, $TID, $TIME, $ADDR, $CPU, $PERIOD, $IDENTIFIER) = (1, 2, 4, 8, 128, 256, 1 << 16);
my ($DATA_SRC, $WEIGHT, $PHYS, $RAW) = (1 << 15, 1 << 14, 1 << 19, 1 << 10);

sub main::perfdata {
	my @events;
	while (my ($name, $e) = splice @_, 0, 2) {
		push @events, {name => $name, id => 11 + @events, also => 0, %$e};
	}
	return bless {events => \@events, data => ''}, 'PerfData';
}

sub ns { return int($_[0] * 1e6 + 0.5) + 1000 * 1000000000 }

sub padded {
	my $s = "$_[0]\0";
	return $s . "\0" x (-length($s) % 8);
}

sub record {
	my ($self, $type, $misc, $body) = @_;
	$self->{data} .= pack('LSS', $type, $misc, 8 + length $body) . $body;
}

# the trailer of a record that is no sample: IDENTIFIER at its end
sub trailer {
	my ($pid, $time, $cpu) = @_;
	return pack('LLQLLQ', $pid, $pid, ns($time), $cpu // 0, 0, 11);
}

sub comm {
	my ($self, $pid, $name, $time) = @_;
	$self->record(3, 1 << 13, pack('LL', $pid, $pid) . padded($name) . trailer($pid, $time));
}

sub map {
	my ($self, $pid, $start, $len, $name, $time, $prot) = @_;
	$self->record(10, 2, pack('LLQQQLLQQLL', $pid, $pid, $start, $len, 0, 0, 0, 0, 0, $prot // 3, 2) . padded($name) .
		trailer($pid, $time));
}

sub fork {
	my ($self, $pid, $parent, $time) = @_;
	$self->record(7, 0, pack('LLLLQ', $pid, $parent, $pid, $parent, ns($time)) . trailer($pid, $time));
}

sub lost {
	my ($self, $n, $time, $cpu) = @_;
	$self->record(2, 0, pack('QQ', 11, $n) . trailer(0, $time, $cpu));
}

sub throttle {
	my ($self, $off, $time, $cpu) = @_;
	$self->record($off ? 6 : 5, 0, pack('QQQ', ns($time), 11, 11) . trailer(0, $time, $cpu));
}

sub sample {
	my ($self, $name, %s) = @_;
	my ($e) = grep { $_->{name} eq $name } @{$self->{events}};
	my $also = $e->{also};
	my $body = pack('QQLLQQLLQ', $e->{id}, $s{ip} // 0x401000, $s{pid}, $s{tid} // $s{pid}, ns($s{time}), $s{addr} // 0,
		$s{cpu} // 0, 0, $s{weigh} // $e->{period} // 1);
	# as the kernel does: size and bytes end at 8
	$body .= pack('L', length $s{raw}) . $s{raw} if $also & $RAW;
	$body .= pack('Q', $s{weight} // 0) if $also & $WEIGHT;
	$body .= pack('Q', $s{data_src} // 0) if $also & $DATA_SRC;
	$body .= pack('Q', $s{phys} // 0) if $also & $PHYS;
	$self->record(9, $s{misc} // 2, $body);
}

# What perf stores of tracefs: formats(SYSTEM => [NAME => ID, [DECLARATION => SIZE, ...]], ...). A declaration in
# front of which stands "-" is signed. Fields lie one behind the other, each at a multiple of its size.
sub formats {
	my ($self, @systems) = @_;
	my $t = "\x17\x08\x44tracing" . "0.6\0" . pack('CCL', 0, 8, 4096) . "header_page\0" . pack('Q', 0) . "header_event\0" .
		pack('Q', 0) . pack('L', 0) . pack('L', @systems / 2);
	while (my ($system, $events) = splice @systems, 0, 2) {
		$t .= "$system\0" . pack('L', @$events / 3);
		my @e = @$events;
		while (my ($name, $id, $fields) = splice @e, 0, 3) {
			my $text = "name: $name\nID: $id\nformat:\n";
			my $at = 0;
			my @f = ('unsigned short common_type' => 2, 'unsigned char common_flags' => 1,
				'unsigned char common_preempt_count' => 1, '-int common_pid' => 4, @$fields);
			while (my ($decl, $size) = splice @f, 0, 2) {
				my $signed = $decl =~ s/^-// ? 1 : 0;
				my $to = $decl =~ /\[/ ? 1 : $size; # arrays are of bytes
				$at += -$at % $to;
				$text .= "\tfield:$decl;\toffset:$at;\tsize:$size;\tsigned:$signed;\n";
				$at += $size;
				$text .= "\n" if $decl =~ /common_pid/; # those of every tracepoint end here
			}
			$text .= "\nprint fmt: \"\"\n";
			$t .= pack('Q', length $text) . $text;
		}
	}
	# kallsyms, printk formats, command lines
	$self->{tracing} = $t . pack('L', 0) . pack('L', 0) . pack('Q', 0);
}

sub string { # as in features
	my $s = "$_[0]\0";
	$s .= "\0" x (-length($s) % 64);
	return pack('L', length $s) . $s;
}

sub bytes {
	my ($self) = @_;
	my $n = @{$self->{events}};
	my $attrs = 104 + 8 * $n;
	my $data = $attrs + $n * (128 + 16);
	my ($ids, $attr, $desc) = ('', '', pack('LL', $n, 128));
	my $i = 0;
	for my $e (@{$self->{events}}) {
		my $type = $IDENTIFIER | $IP | $TID | $TIME | $ADDR | $CPU | $PERIOD | $e->{also};
		my $a = pack('LLQQQQQ', $e->{type}, 128, $e->{config}, $e->{freq} // $e->{period} // 1, $type, 0,
			1 << 18 | ($e->{freq} ? 1 << 10 : 0) | ($e->{flags} // 0));
		$a .= "\0" x (128 - length $a);
		$attr .= $a . pack('QQ', 104 + 8 * $i++, 8);
		$ids .= pack('Q', $e->{id});
		$desc .= $a . pack('L', 1) . string($e->{name}) . pack('Q', $e->{id});
	}
	# HOSTNAME, OSRELEASE, ARCH, CMDLINE, EVENT_DESC
	my @feat = ([3, string('host')], [4, string('6.1.0-golden')], [6, string('x86_64')],
		[11, pack('L', 3) . string('perf') . string('record') . string("a b")], [12, $desc]);
	unshift @feat, [1, $self->{tracing}] if $self->{tracing};
	my $bitmap = 0;
	$bitmap |= 1 << $_->[0] for @feat;
	my $at = $data + length($self->{data}) + 16 * @feat;
	my ($table, $bodies) = ('', '');
	for my $f (@feat) {
		$table .= pack('QQ', $at, length $f->[1]);
		$bodies .= $f->[1];
		$at += length $f->[1];
	}
	return 'PERFILE2' . pack('QQQQQQQQ', 104, 128 + 16, $attrs, $n * (128 + 16), $data, length $self->{data}, 0, 0) .
		pack('QQQQ', $bitmap, 0, 0, 0) . $ids . $attr . $self->{data} . $table . $bodies;
}

sub write {
	my ($self, $path) = @_;
	open my $out, '>:raw', $path or die "$path: $!";
	print $out $self->bytes or die "$path: $!";
	close $out or die "$path: $!";
}

1;
