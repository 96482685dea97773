/** Addresses of the servers that tests use; the defaults are those of docker-compose.yml on this machine. */
export const testUrls = {
  postgres: (): string => process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
  /** Queues of tests expire by themselves: several hundred quorum queues exhaust a server's open files. */
  amqp: (): string => {
    const url = new URL(process.env.AMQP_URL ?? 'amqp://guest:guest@127.0.0.1:5672');
    if (!url.searchParams.has('unusedExpiryMs')) url.searchParams.set('unusedExpiryMs', '60000');
    return url.href;
  },
  redis: (): string => process.env.REDIS_URL ?? 'redis://127.0.0.1:6379',
};

/** `url` with another database name. */
export function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}
