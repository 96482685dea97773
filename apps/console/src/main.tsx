import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { SESSION_KEY, signIn, takeSignInCode, takeSignInFailure } from './api/session';
import { App } from './app';
import { keepDeviceCode } from './device/device-code';
import { router } from './router';
import { applyTheme, readSettings } from './settings/settings';
import { openedTenant } from './shell/opened-tenant';
import './styles/tokens.css';
import './styles/base.css';
import { t } from './text/text';
import { wire } from './wiring';

/** Exchanges a one-time code of the address for a session, before any other request. */
async function enterByCode({ client, cache }: ReturnType<typeof wire>): Promise<string | null> {
  const code = takeSignInCode(window.location, window.history);
  if (code === null) return null;
  try {
    cache.setQueryData(SESSION_KEY, await signIn(client, { code }));
    return null;
  } catch {
    return t.signIn.codeRefused;
  }
}

/** Returns the text about a sign-in at a provider that has just failed. */
function failedAtProvider(): string | null {
  const code = takeSignInFailure(window.location, window.history);
  if (code === null) return null;
  const texts: Readonly<Record<string, string>> = t.signIn.atProvider;
  return Object.hasOwn(texts, code) ? texts[code]! : t.signIn.atProvider.refused;
}

/**
 * Shows the console. Not at the top level of the module: everything that is loaded meanwhile imports from the file of this module,
 * and would wait for its end.
 */
async function start(): Promise<void> {
  applyTheme();
  keepDeviceCode(window.location, window.history, () => sessionStorage);
  const wiring = wire();
  const notice = failedAtProvider() ?? (await enterByCode(wiring));
  const tenant = openedTenant(window.location.pathname, readSettings().tenant);
  // Starts in parallel with the session request: screens wait for the stream, so that they need not reload data older than the
  // stream.
  wiring.live.start(tenant);
  // Loads the code of the screen in parallel with the session request as well.
  void router.load();
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <App {...wiring} notice={notice} tenant={tenant} />
    </StrictMode>,
  );
}

void start();
