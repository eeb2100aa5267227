#pragma once
#include <libpq-fe.h>

// Swift does not import character constants.
static const int countersign_field_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int countersign_field_sqlstate = PG_DIAG_SQLSTATE;
static const int countersign_field_constraint = PG_DIAG_CONSTRAINT_NAME;
static const int countersign_field_message = PG_DIAG_MESSAGE_PRIMARY;
