export { type KubeTools, kubeTools } from './kube-tools';
export type { KubeObject } from './object';
export type { PodFate } from './pods';
export { type KubeDouble, type KubeDoubleOptions, type SeenRequest, startKubeDouble } from './server';
