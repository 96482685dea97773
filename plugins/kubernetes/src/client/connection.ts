/** How the API of a cluster is reached. Texts of certificates are PEM. */
export interface Connection {
  /** Without a slash at its end. */
  server: string;
  token?: string;
  basic?: { user: string; password: string };
  tls: { ca?: string; cert?: string; key?: string; verify?: boolean; serverName?: string };
  proxy?: string;
  /** Namespace of the context of a kubeconfig. */
  namespace?: string;
}

/** The values of a connection that nobody may see. */
export const secretsOf = ({ token, basic, tls }: Connection): string[] =>
  [token, basic?.password, tls.key].filter((value) => value !== undefined);
