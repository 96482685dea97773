import { createHash } from 'node:crypto';

const SHOWN_CHARACTERS = 60;

/**
 * Name of the secret that holds a sensitive runtime property: always the same for a deployment, a node instance and a property, so that
 * an attempt after a crash finds it again. The end keeps apart what the readable part does not.
 */
export function runtimeSecretName(deployment: string, instance: string, property: string): string {
  const parts = [deployment, instance, property];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
  const shown = parts.map((part) => part.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, SHOWN_CHARACTERS));
  return ['runtime', ...shown, digest].join('.');
}
