/**
 * Server reflection (grpc.reflection.v1 and v1alpha): grpcurl and other tools query the services, methods and messages of a server.
 * The answers come from the descriptors of proto/.
 */
import type { Server } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { descriptorFiles } from './descriptors.gen';
import { addLateServices, type LoadedService, type Refusal, type Shown } from './late-service';

const REFLECTION = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];
const HEALTH = 'grpc.health.v1.Health';
const methods = REFLECTION.map((service) => ({
  path: `/${service}/ServerReflectionInfo`,
  requestStream: true,
  responseStream: true,
}));

async function load(services: readonly string[]): Promise<LoadedService[]> {
  const { ReflectionService } = await import('@grpc/reflection');
  const files = Object.values(descriptorFiles).filter((file) =>
    file.services.some((name) => services.includes(name)),
  );
  // The service reads only the descriptors of a package definition.
  const definitions = {
    '': { fileDescriptorProtos: files.map(({ bytes }) => Buffer.from(bytes, 'base64')) },
  };
  const loaded: LoadedService[] = [];
  new ReflectionService(definitions as unknown as PackageDefinition, { services: [...services] }).addToServer(
    {
      addService: (definition, implementation) => void loaded.push({ definition, implementation }),
    },
  );
  return loaded;
}

/** `served`: full names of the services besides health and reflection; called with the first query. */
export function addReflection(
  server: Pick<Server, 'addService'>,
  o: { served: () => readonly string[]; refusalOf: (call: Shown) => Refusal | null },
): void {
  addLateServices(server, {
    methods,
    load: () => load([...o.served(), HEALTH, ...REFLECTION]),
    refusalOf: o.refusalOf,
  });
}
