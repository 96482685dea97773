/**
 * `node --import tsx packages/testkit/src/kube-double/kube-double.main.ts [PORT]`: runs the stand-in until it is ended, and
 * prints a configuration file for kubectl, helm and blueprints.
 */
import { startKubeDouble } from './server';

void (async () => {
  const double = await startKubeDouble({ port: Number(process.argv[2] ?? 0) });
  process.stdout.write(double.kubeconfig());
})();
