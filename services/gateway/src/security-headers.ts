/** What helmet says to browsers, worked out once: its middleware would set the same headers anew for each answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet, { type HelmetOptions } from 'helmet';

/** Nothing by itself: what is said is named. */
const NOTHING = {
  contentSecurityPolicy: false,
  crossOriginEmbedderPolicy: false,
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  referrerPolicy: false,
  strictTransportSecurity: false,
  xContentTypeOptions: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false,
} satisfies HelmetOptions;

/** The newer of helmet's two names for each header. */
type Said = { [Name in keyof typeof NOTHING]?: HelmetOptions[Name] };

/** [name, value, ...] of what these options of helmet mean; names in small letters. @throws Error when helmet refuses them. */
export function securityHeaders(options: Said): string[] {
  const headers: string[] = [];
  const recorder = {
    setHeader: (name: string, value: string) => void headers.push(name.toLowerCase(), value),
  };
  helmet({ ...NOTHING, ...options } as HelmetOptions)(
    {} as IncomingMessage,
    recorder as unknown as ServerResponse,
    (error) => {
      if (error) throw error;
    },
  );
  return headers;
}
