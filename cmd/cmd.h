/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands. Each parses its own arguments (argv[0] is "damon-attrs NAME"), calls the library, prints
 * the result to stdout and everything else to stderr, and returns the exit status; only main() exits.
 */
#ifndef DA_CMD_H
#define DA_CMD_H

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diagnose(int argc, char **argv);
int cmd_workload(int argc, char **argv);

#endif
