# SPDX-License-Identifier: GPL-2.0-only
#
# A recording of ours from its facts alone, for the golden tests of diagnose: facts.json of the case is what
# `record` would have stored (src/facts_json.c; those here are the crafted runs of tests/verdict_facts.c),
# and each row of a CPU in it is a ledger snapshot too. There are no samples: what is judged was recorded.
#
#	require "$ENV{GOLDEN}/verdict.pl";
#	recording('page-faults:uk' => {type => 1, config => 2, period => 1}, end => 1);
use strict;
use warnings;
require "$ENV{GOLDEN}/perfdata.pl";

my ($INFO, $LEDGER, $END, $FACTS) = (1, 2, 5, 6);

# include/da_own.h: a record that perf skips, of at least 80 bytes
sub own {
	my ($f, $kind, $text) = @_;
	my $body = pack('LSSLL', 0x444d4e41, $kind, 1, length $text, 0) . $text;
	$body .= "\0" x (-length($body) % 8);
	$body .= "\0" x (72 - length $body) if length $body < 72;
	$f->record(65, 0, $body);
}

sub recording {
	my ($name, $event, %opt) = @_;
	my ($case) = $0 =~ m{(.*)/make$} or die;
	open my $in, '<', "$case/facts.json" or die "$case/facts.json: $!";
	my $facts = <$in>;
	my ($producer, $period) = $facts =~ /"producer":"(\w+)".*"effective_period":(\d+)/ or die;
	my $f = perfdata($name => $event);

	own($f, $INFO, qq({"version":"1","arch":"x86_64","events":[{"id":0,"name":"$name","producer":"$producer",) .
		qq("unit":"events","period":$period,"dropped_bits":""}]}));
	own($f, $LEDGER, qq({"event":0,$1)) while $facts =~ /\{("cpu":\d+,"state":.*?"peak":\d+\}\})/g;
	if ($opt{end}) {
		own($f, $FACTS, $facts);
		own($f, $END, '{"reason":"exit","command_status":0,"samples":0}');
	}
	$f->write('input.data');
}

1;
