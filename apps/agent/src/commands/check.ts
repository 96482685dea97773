import { createPrivateKey, X509Certificate } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { isSea } from 'node:sea';
import { productVersion } from '@baton/service-runtime';
import { assetsInside } from '../assets';
import { readConfig } from '../config';
import { AgentFailure, exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { agentPlatform } from '../run/about';
import { readCredentials } from '../run/credentials';

/**
 * Tests whether this program can be the agent: it starts, understands the configuration and the certificate, has its assets and may
 * write its folder. It changes nothing and disturbs no running agent. @throws AgentFailure unfit
 */
export function check(places: Places): number {
  const faults: string[] = [];
  const tryTo = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      faults.push((error as Error).message);
    }
  };
  tryTo(() => void readConfig(places.config));
  tryTo(() => {
    const { certificate, key, authorities } = readCredentials(places);
    void new X509Certificate(authorities);
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
      throw new Error(`${places.certificate}: it is the certificate of another key`);
  });
  tryTo(() => {
    for (const folder of [places.dir, places.journal, places.state, places.lib])
      if (existsSync(folder)) accessSync(folder, constants.W_OK | constants.X_OK);
  });
  if (isSea()) tryTo(() => void assetsInside());
  if (faults.length > 0) throw new AgentFailure(exitCodes.unfit, faults.join('; '));
  process.stdout.write(
    `${JSON.stringify({ version: productVersion, platform: agentPlatform, isFit: true })}\n`,
  );
  return exitCodes.ok;
}
