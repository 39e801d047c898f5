/* ad_program_print: the steps of a program, one line each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     t4 (500 x 8 f64) = gemm X W
 *     t5 t6 = fused t4 { exp add log; sum }
 *
 * Values are inputs and parameters by name, constants by type, temporaries by
 * number; a view is written as the operator and what it shows. */
#include "config.h"

#include "autodiff/program_impl.h"
#include "autodiff/text_impl.h"

static void put_value(ad_text_buffer *t, const ad_program *p, uint32_t v)
{
    const ad_value_info *info = &p->value[v];
    char type[96];
    size_t n_view = 0;
    for (; info->kind == AD_VALUE_VIEW; info = &p->value[info->index]) {
        ad_text_putf(t, "%s(", info->node->op->name);
        n_view++;
    }
    if (info->kind == AD_VALUE_CONSTANT)
        ad_text_putf(t, "<%s>",
                     ad_type_describe(type, sizeof(type), info->node->type));
    else if (info->kind != AD_VALUE_STEP && info->node->name)
        ad_text_put(t, info->node->name);
    else
        ad_text_putf(t, "t%u", (unsigned)(info - p->value));
    while (n_view-- > 0)
        ad_text_put(t, ")");
}

static void put_rows(ad_text_buffer *t, const ad_fused *f)
{
    ad_text_put(t, f->code.symmetric ? " symmetric {" : " {");
    for (int i = 0; i < f->n_row; i++)
        ad_text_putf(t, " %s", la_map_name((la_map_row)f->row[i]));
    for (int i = 0; i < f->code.n_result; i++) {
        static const char *const name[] = {"store", "sum", "max", "min"};
        ad_text_putf(t, "%s %s", i ? "" : ";", name[f->code.results[i].reduce]);
    }
    ad_text_put(t, " }");
}

static void put_step(ad_text_buffer *t, const ad_program *p, const ad_step *s)
{
    char type[96];
    for (int k = 0; k < s->n_out; k++) {
        put_value(t, p, s->out[k]);
        ad_text_putf(t, " (%s) ",
                     ad_type_describe(type, sizeof(type), &s->node->type[k]));
    }
    ad_text_putf(t, "= %s", s->node->op->name);
    for (int i = 0; i < s->n_in; i++) {
        ad_text_put(t, " ");
        put_value(t, p, s->in[i]);
    }
    if (s->node->op == &ad_op_fused)
        put_rows(t, ((const ad_fused_fields *)s->node->fields)->fused);
    ad_text_put(t, "\n");
}

char *ad_program_print(const ad_program *p)
{
    if (!p)
        return NULL;
    ad_text_buffer t = {.heap = p->heap};
    for (uint32_t i = 0; i < p->n_step; i++)
        put_step(&t, p, &p->step[i]);
    for (uint32_t i = 0; i < p->n_out; i++) {
        ad_text_putf(&t, "output %u = ", i + 1);
        put_value(&t, p, p->out[i]);
        ad_text_put(&t, "\n");
    }
    for (uint32_t i = 0; i < p->n_update; i++) {
        ad_text_putf(&t, "%s <- ", p->param[p->update[i].param]->name);
        put_value(&t, p, p->update[i].value);
        ad_text_put(&t, "\n");
    }
    if (!t.failed)
        return t.s;
    covar_heap_free(p->heap, t.s);
    return NULL;
}
