export { isFalsy, pythonText } from './python-text';
export { hasTemplate, renderTemplate } from './template';
