/* Private to the fusion: what its three parts tell each other.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COVAR_FUSE_IMPL_H
#define COVAR_FUSE_IMPL_H

#include "autodiff/ops/ops.h"
#include "autodiff/program_impl.h"

enum { AD_NO_CLUSTER = UINT32_MAX };

/* One value that a cluster gives to the rest of the graph. */
typedef struct ad_cluster_result {
    ad_node *member; /* computes it */
    ad_node *value;  /* stands for it: the member or its reduction */
    la_reduce_kind reduce;
    unsigned axes;
} ad_cluster_result;

typedef struct ad_cluster {
    ad_node **member; /* inputs before users */
    size_t n_member;
    ad_cluster_result *result;
    size_t n_result;
} ad_cluster;

/* What a node is to the piece of code at hand. */
typedef struct ad_operand {
    enum { AD_OPERAND_INPUT, AD_OPERAND_NUMBER, AD_OPERAND_MEMBER } kind;
    int index;
} ad_operand;

typedef struct ad_fusion {
    ad_graph *g;
    ad_arena *arena; /* everything that goes when fusion is done */
    ad_node **order; /* what the roots need, by id */
    size_t n_order;
    ad_node *const *root;
    size_t n_root;
    uint32_t *cluster;           /* by id, AD_NO_CLUSTER outside */
    uint32_t *user_start, *user; /* users of node id, as places in order */
    bool *is_root;               /* by id */
    bool single;                 /* one node a cluster */
    size_t n_cluster;
    ad_cluster *list;
    ad_operand *operand; /* by id, valid where stamp_of agrees with stamp */
    uint32_t *stamp_of, stamp;
} ad_fusion;

/* May y be a member of a cluster? */
bool ad_fusable(const ad_node *y);

/* Have a and b one index space? */
bool ad_same_space(const ad_node *a, const ad_node *b);

/* The reduction that y is, LA_REDUCE_NONE for other nodes. */
la_reduce_kind ad_reduction_of(const ad_node *y);

/* Sets cluster[] and n_cluster (fuse_stage.c). */
bool ad_fuse_assign(ad_fusion *f);

/* Lists members and results of each cluster, recomputing cheap values of
 * others instead of reading them (fuse_members.c). */
bool ad_fuse_members(ad_fusion *f);

/* Code and node of a cluster whose inputs are in map (by id); writes the
 * results into map. False after an error. May make several (fuse_code.c). */
bool ad_fuse_emit(ad_fusion *f, const ad_cluster *c, ad_node **map);

#endif
