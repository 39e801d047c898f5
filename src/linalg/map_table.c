/* Facts about the rows of the map table.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "linalg/map_table.h"

#define ROW_ARITY(row, name, arity) [row] = arity,
static const unsigned char arities[LA_ROW_COUNT] = {
    LA_MAP_LIST(ROW_ARITY) LA_SUPER_LIST(ROW_ARITY)};

int la_row_arity(int row)
{
    return arities[row];
}
