/** The headers of a gRPC call by which a caller proves its identity and lease. */
import type { Metadata } from '@grpc/grpc-js';

export const TOKEN_HEADER = 'x-baton-caller';
export const LEASE_HEADER = 'x-baton-lease';

function textOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === 'string' ? value : undefined;
}

export const tokenOf = (metadata: Metadata): string | undefined => textOf(metadata, TOKEN_HEADER);
export const leaseOf = (metadata: Metadata): string | undefined => textOf(metadata, LEASE_HEADER);
