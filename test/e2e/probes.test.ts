// Requests of kubelets and grpcurl to the shipped services: the bundles contain the definitions of both standard services.
import type { ServiceName } from '@baton/contracts';
import { Secret } from '@baton/kernel';
import { derivedTrust, serviceCredential } from '@baton/trust';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { type Fleet, INTERNAL_KEY, startFleet } from '../harness/fleet';

const isServices = process.env.BATON_E2E_MODE === 'services';
/** Field 7: list_services. */
const LIST_SERVICES = Buffer.from([0x3a, 0x01, 0x2a]);
/** Field 1 of a health answer: 1 is SERVING. */
const SERVING = Buffer.from([0x08, 0x01]);
const asTheyAre = (bytes: Buffer): Buffer => bytes;

// A standalone has no rpc port.
(isServices ? describe : describe.skip)('every service with rpc', () => {
  let fleet: Fleet;
  const clients = new Map<ServiceName, Client>();
  beforeAll(async () => {
    fleet = await startFleet({ mode: 'services', workers: 0 });
    for (const [name, address] of Object.entries(fleet.rpc))
      clients.set(name as ServiceName, new Client(address, credentials.createInsecure()));
  });
  afterAll(async () => {
    for (const client of clients.values()) client.close();
    await fleet?.stop();
  });

  const health = (client: Client): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const [path, whole] = ['/grpc.health.v1.Health/Check', Buffer.alloc(0)];
      client.makeUnaryRequest(path, asTheyAre, asTheyAre, whole, (error, answer) =>
        error ? reject(error) : resolve(answer!),
      );
    });

  async function names(client: Client, token: string | null): Promise<string | number> {
    const metadata = new Metadata();
    if (token !== null) metadata.set('x-baton-caller', token);
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    const call = client.makeBidiStreamRequest(path, asTheyAre, asTheyAre, metadata);
    call.end(LIST_SERVICES);
    try {
      const answers: Buffer[] = [];
      for await (const answer of call) answers.push(answer);
      return Buffer.concat(answers).toString('latin1');
    } catch (error) {
      return (error as ServiceError).code;
    }
  }

  test('tells its health to everybody, and its methods to services alone', async () => {
    expect(clients.size).toBe(6);
    const { identity } = derivedTrust('gateway', new Secret(INTERNAL_KEY));
    for (const [name, client] of clients) {
      expect([name, await health(client)]).toEqual([name, SERVING]);
      expect([name, await names(client, null)]).toEqual([name, status.UNAUTHENTICATED]);
      const listed = await names(client, serviceCredential(identity).tokenFor(name));
      expect([name, listed]).toEqual([name, expect.stringContaining('baton.rpc.v1.CallStreamService')]);
      expect(listed).toContain('grpc.health.v1.Health');
    }
  });
});
