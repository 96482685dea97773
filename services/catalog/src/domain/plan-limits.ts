/**
 * Most characters of JSON with which a plan is stored and returned unchanged. A larger plan is folded in the database
 * (packages/kernel/src/folded-json.ts), and answers to uploads and lists omit it unless `_include` names the plan.
 */
export const PLAIN_PLAN_CHARS = 1_048_576;

/** Most characters of a plan; a JavaScript string has at most 2^29, and an answer contains more than the plan. */
export const MAX_PLAN_CHARS = 500_000_000;

/** Most characters of a plan in one rpc message; larger plans are read by `ReadPlan`. */
export const MESSAGE_PLAN_CHARS = 16 * 1024 * 1024;
