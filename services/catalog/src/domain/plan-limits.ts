/**
 * Characters of the JSON up to which a plan is stored and answered as it is. Larger ones are folded where they are kept
 * (packages/kernel/src/folded-json.ts), and answers to uploads and lists leave them out unless `_include` names the plan.
 */
export const PLAIN_PLAN_CHARS = 1_048_576;

/** Most characters of a plan; a JavaScript text has at most 2^29, and an answer holds more than the plan. */
export const MAX_PLAN_CHARS = 500_000_000;

/** Characters of a plan that one rpc message may carry; larger ones come by `ReadPlan`. */
export const MESSAGE_PLAN_CHARS = 16 * 1024 * 1024;
