/** Names the pages of the documentation, which a deployment serves beside its console. Links to them are made from this table. */
import { BASE_PATH } from '../../../lib/clusters/deployment.ts'

/** The title of each page by its name: docs/NAME.md, and `console/docs/NAME` of a deployment. */
export const documentation = {
  tour: 'A tour of five minutes',
  'first-virtual-cluster': 'Your first virtual cluster',
  'first-connected-cluster': 'Your first connected cluster',
  'first-eks-cluster': 'Your first EKS cluster',
  clusters: 'Clusters',
  federation: 'Jobs without a stored secret',
  ci: 'CI jobs',
  workloads: 'Pods and controllers',
  'access-keys': 'Access keys',
  scopes: 'Scopes',
  usage: 'What a key does',
  agents: 'Coding agents, scripts, and a colleague for a day',
  rotation: 'Rotation without an outage',
  leaks: 'The day of a leak',
  'command-line': 'The command line',
  console: 'The console',
  clients: 'Clients',
  deploying: 'Deploying',
  settings: 'Settings',
  operating: 'Operating',
  monitoring: 'Monitoring',
  audit: 'Audit records and events',
  cost: 'Cost and capacity',
  threats: 'Threats',
} as const

export type DocumentationPage = keyof typeof documentation

/** Returns the address of a page, relative to that of the console. */
export const documentationPath = (page: DocumentationPage): string => `docs/${page}`

const consoleOf = (server: string): string =>
  `${server.endsWith(BASE_PATH) ? server.slice(0, -BASE_PATH.length) : server}/console`

/** Returns the URL of a page that the server with this URL serves. */
export const documentationUrl = (server: string, page: DocumentationPage): string =>
  `${consoleOf(server)}/${documentationPath(page)}`

/** Returns the URL of a page of the console, with parts such as `keys` and the name of a key. */
export const consoleUrl = (server: string, parts: readonly string[]): string =>
  `${consoleOf(server)}/#/${parts.map(encodeURIComponent).join('/')}`

/** Returns the URL of the command line's npm package, which the server with this URL serves. */
export const packageUrl = (server: string): string => `${consoleOf(server)}/keyplane.tgz`
