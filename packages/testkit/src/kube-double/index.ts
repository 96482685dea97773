export { type KubeTools, kubeTools } from './kube-tools';
export { type KubeDouble, startKubeDouble } from './server';
