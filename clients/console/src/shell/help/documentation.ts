/** Names the pages of the documentation where most questions are answered. */
export const documentation = [
  { page: 'docs/tour.md', about: 'a tour of five minutes' },
  { page: 'docs/console.md', about: 'this console' },
  { page: 'docs/command-line.md', about: 'the command line' },
  { page: 'docs/access-keys.md', about: 'access keys: lifetime, addresses, limits' },
  { page: 'docs/scopes.md', about: 'what a key may do' },
  { page: 'docs/rotation.md', about: 'new values for keys, without an outage' },
  { page: 'docs/ci.md', about: 'CI jobs without a secret' },
  { page: 'docs/kubeconfigs.md', about: 'kube configs and tokens for clusters' },
  { page: 'docs/clusters.md', about: 'connecting clusters' },
  { page: 'docs/deploying.md', about: 'deploying and operating keyplane' },
] as const
