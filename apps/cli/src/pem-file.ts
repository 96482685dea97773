import { readFileSync } from 'node:fs';
import { UsageFailure } from './failure';

/** Returns the text of a PEM file with certificates. @throws UsageFailure for a file that holds none */
export function pemFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageFailure(`${path}: ${(cause as Error).message}; expected a file with a certificate in PEM`);
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageFailure(
      `${path}: there is no certificate in it; expected PEM, -----BEGIN CERTIFICATE-----`,
    );
  return text;
}
