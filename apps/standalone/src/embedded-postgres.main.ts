// Runs only the embedded PostgreSQL, for tools: prints its URL and serves until SIGTERM or the end of standard input.
import { startEmbeddedPostgres } from './embedded-postgres';

async function main(dataDir: string): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir });
  process.stdout.write(`${server.url}\n`);
  const end = () => void server.stop().then(() => process.exit(0));
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.stdin.on('end', end).resume();
}

void main(process.argv[2] ?? '.baton/postgres');
