export { hasTemplate, renderTemplate } from './template';
