import { rabbitPermissions, topology } from '../../packages/broker/src/index';
import { managerServices } from '../../packages/contracts/src/index';

/** For whoever makes the users of RabbitMQ by other means than the job `migrate`: patterns of each service, in the default namespace. */
export function brokerPermissions(): string {
  const services = [...managerServices, 'worker'];
  const all = Object.fromEntries(
    services.map((service) => [service, rabbitPermissions('baton', topology, service)]),
  );
  return `${JSON.stringify(all, null, 2)}\n`;
}
