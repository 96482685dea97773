import { type FakeClock, type TestNode, testNode } from '@baton/plugin-sdk/testing';
import { type KubeDouble, startKubeDouble } from '@baton/testkit/kube-double';
import plugin from '../plugin';

const RESOURCES = 'cloudify.nodes.kubernetes.resources';

/** A stand-in for a cluster, for the tests of a file. */
export function testCluster(): { readonly double: KubeDouble; node: NodeOfCluster } {
  let double: KubeDouble | undefined;
  beforeAll(async () => {
    double = await startKubeDouble();
  });
  afterAll(async () => await double?.stop());
  return {
    get double() {
      return double!;
    },
    node: (type, properties, files = {}, clock = undefined) =>
      testNode(plugin, `${RESOURCES}.${type}`, {
        properties: {
          client_config: { configuration: { file_content: double!.kubeconfig() } },
          ...properties,
        } as never,
        files,
        clock,
      }),
  };
}

type NodeOfCluster = (
  type: string,
  properties: object,
  files?: Record<string, string>,
  clock?: FakeClock,
) => TestNode;

export const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

export const deployment = (name: string, image: string, replicas = 1) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] },
    },
  },
});
