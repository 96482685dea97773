/** The same for each operation of the lifecycle that the originals have. */
export const forEveryOperation = <T>(value: T) => ({
  create: value,
  configure: value,
  start: value,
  stop: value,
  delete: value,
});

/** Names of those operations. */
export const EVERY_OPERATION = ['create', 'configure', 'start', 'stop', 'delete'] as const;
