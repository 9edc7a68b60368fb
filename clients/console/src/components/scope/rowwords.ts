/** Words of the scope picker. docs/scopes.md has the whole meaning of each. */
import type { RowKind } from './scoperows.ts'

export const KIND_WORDS: Readonly<Record<RowKind, [label: string, hint: string]>> = {
  project: ['Project', 'Everything in the project, with its spaces and virtual clusters. * means every project.'],
  virtualCluster: ['Virtual cluster', 'Everything in it, and its kube configs. * means every one of the project.'],
  space: ['Space', 'A namespace of the project, in every connected cluster. * means every one of the project.'],
  cluster: [
    'Connected cluster',
    'Tokens for it, and everything in it, but not in virtual clusters. * means every connected cluster.',
  ],
  role: ['Role', ''],
  rule: ['Rule (advanced)', 'Fields left empty restrict nothing. Separate several values by commas.'],
}

const NOTHING = 'Nothing in this API yet.'

export const ROLE_HINTS: Readonly<Record<string, string>> = {
  platformCLI: 'Read virtual clusters, and the owner’s keys if the role is not limited.',
  selfRotate: 'Read and rotate this key itself. The key must expire at a fixed time.',
  agent:
    'For connecting a cluster: reads virtual clusters, and writes their status. Reviews tokens and access if an administrator without a scope creates the key.',
  vcluster: 'The same for a virtual cluster.',
  view: 'Only read, without Secrets, where projects, spaces and clusters say.',
  runner: NOTHING,
  'network-peer': NOTHING,
  workspace: NOTHING,
}
