/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An SPE packet as text, for comparison with other decoders: what kind it is and its numbers, without the
 * names of bits, which differ from version to version. Header-only.
 */
#ifndef SPE_TEXT_H
#define SPE_TEXT_H

#include <inttypes.h>
#include <stdio.h>

#include "da_spe.h"

#define SPE_TEXT_MAX 80

static inline void spe_text_address(const struct da_spe_packet *k, char out[SPE_TEXT_MAX])
{
	static const char *const names[] = {"PC", "TGT", "VA", "PA"};
	uint64_t v = k->payload, low = v & 0x00ffffffffffffff;
	unsigned ns = (unsigned)(v >> 63);

	switch (k->index) {
	case 0:
	case 1:
		snprintf(out, SPE_TEXT_MAX, "%s 0x%" PRIx64 " el%u ns=%u", names[k->index], low,
			 (unsigned)(v >> 61 & 3), ns);
		break;
	case 2:
		snprintf(out, SPE_TEXT_MAX, "VA 0x%" PRIx64, v);
		break;
	case 3:
		snprintf(out, SPE_TEXT_MAX, "PA 0x%" PRIx64 " ns=%u ch=%u pat=%x", low, ns,
			 (unsigned)(v >> 62 & 1), (unsigned)(v >> 56 & 0xf));
		break;
	default:
		snprintf(out, SPE_TEXT_MAX, "ADDR");
		break;
	}
}

static inline void spe_text(const struct da_spe_packet *k, char out[SPE_TEXT_MAX])
{
	switch (k->kind) {
	case DA_SPE_PAD:
	case DA_SPE_ALIGN:
		snprintf(out, SPE_TEXT_MAX, "PAD");
		break;
	case DA_SPE_END:
		snprintf(out, SPE_TEXT_MAX, "END");
		break;
	case DA_SPE_TIMESTAMP:
		snprintf(out, SPE_TEXT_MAX, "TS %" PRId64, (int64_t)k->payload);
		break;
	case DA_SPE_EVENTS:
		snprintf(out, SPE_TEXT_MAX, "EV");
		break;
	case DA_SPE_SOURCE:
		snprintf(out, SPE_TEXT_MAX, "DATA-SOURCE %" PRId64, (int64_t)k->payload);
		break;
	case DA_SPE_CONTEXT:
		snprintf(out, SPE_TEXT_MAX, "CONTEXT 0x%" PRIx64 " el%u", k->payload,
			 k->index + 1u);
		break;
	case DA_SPE_OP:
		snprintf(out, SPE_TEXT_MAX, "OP");
		break;
	case DA_SPE_ADDRESS:
		spe_text_address(k, out);
		break;
	case DA_SPE_COUNTER:
		snprintf(out, SPE_TEXT_MAX, "LAT %" PRIu64, k->payload);
		break;
	default:
		snprintf(out, SPE_TEXT_MAX, "BAD");
		break;
	}
}

#endif
