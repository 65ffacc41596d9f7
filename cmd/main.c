/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damon-attrs: dispatch. Knows the commands by name and nothing of what they do.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#ifndef DA_VERSION
#define DA_VERSION "0"
#endif
#ifndef DA_LIBRARIES
#define DA_LIBRARIES ""
#endif

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *title; /* as argp shows it in messages */
	const char *what;  /* NULL: hidden */
} commands[] = {
	{"record", cmd_record, "damon-attrs record",
	 "sample memory accesses of a command, a process or the system"},
	{"report", cmd_report, "damon-attrs report",
	 "decode a recording into regions and heat maps"},
	{"diagnose", cmd_diagnose, "damon-attrs diagnose",
	 "judge every layer of the pipeline; exit code for CI"},
	{"workload", cmd_workload, "damon-attrs workload", NULL},
};

static void usage(FILE *to)
{
	fputs("Usage: damon-attrs COMMAND [OPTION...]\n\n", to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].what)
			fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].what);
	fputs("\n'damon-attrs COMMAND --help' lists a command's options; 'damon-attrs --version' the libraries.\n",
	      to);
}

static int run(const struct command *c, int argc, char **argv)
{
	int status;

	argp_err_exit_status = 2;
	argv[0] = (char *)(uintptr_t)c->title; /* argp does not write to it */
	status = c->run(argc, argv);
	/* a full disk or a closed pipe shows itself only here */
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			return status;
		fprintf(stderr, "damon-attrs: error: cannot write to standard output: %s\n",
			strerror(errno));
		return status ? status : 1;
	}
	return status;
}

int main(int argc, char **argv)
{
	/* a reader that closes its end (head) is no error: writes return EPIPE instead of killing us */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("damon-attrs %s\nlibraries: %s\n", DA_VERSION, DA_LIBRARIES);
		return 0;
	}
	fprintf(stderr,
		"damon-attrs: error: unknown command '%s'; there are record, report and diagnose\n",
		argv[1]);
	return 2;
}
