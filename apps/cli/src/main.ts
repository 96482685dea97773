import { runCli } from './run';

void runCli(process.argv).then((code) => {
  process.exitCode = code;
});
