import { rabbitPermissions, topology } from '../../packages/broker/src/index';
import { managerServices } from '../../packages/contracts/src/index';

/**
 * Returns the RabbitMQ permission patterns of each service in the default namespace, for administrators who create the users
 * without the job `migrate`.
 */
export function brokerPermissions(): string {
  const services = [...managerServices, 'worker'];
  const all = Object.fromEntries(
    services.map((service) => [service, rabbitPermissions('baton', topology, service)]),
  );
  return `${JSON.stringify(all, null, 2)}\n`;
}
