export { type DoubleOptions, type GatewayDouble, startGatewayDouble } from './gateway-double';
