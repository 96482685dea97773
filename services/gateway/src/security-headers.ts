/** The headers of helmet for browsers, computed once: its middleware would compute the same headers again for each answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet, { type HelmetOptions } from 'helmet';

/** No header by default: each one that is sent is named. */
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

/** Options of helmet by the newer of its two names for each header. */
type Said = { [Name in keyof typeof NOTHING]?: HelmetOptions[Name] };

/**
 * Returns [name, value, ...] for these options of helmet; names in small letters.
 * @throws Error when helmet refuses the options.
 */
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

/** Returns the headers of a page for browsers: no frame, no referrer, no other origin, and only content that `directives` allow. */
export const pageHeaders = (directives: Record<string, Iterable<string>>): string[] =>
  securityHeaders({
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    contentSecurityPolicy: { useDefaults: false, directives },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
  });
