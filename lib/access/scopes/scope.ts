/** Defines the scope of a key: the schema that keys and tokens share, and its type. Specification section 2.3. */

import { boolean, type FromSchema, list, object, string } from '../../engine/meta/schema/schema.ts'
import { requestTargets } from '../attributes/attributes.ts'

const rule = object('A rule that allows matching requests.', {
  verbs: list('Matching verbs. Empty means every verb.', string('A verb.')),
  resources: list(
    'Matching resources. Empty means all kinds in all groups.',
    object('Resources of one API group.', {
      group: string('API group; empty is the core group.'),
      resources: list(
        'Resource names: a resource, a subresource such as pods/log, or a wildcard: *, pods/*, or * in place of the resource of a subresource. Empty means all resources of the group.',
        string('A resource name.'),
      ),
      resourceNames: list('Instance names. Empty means every instance.', string('A name.')),
    }),
  ),
  resourceNames: list('Instance names. Requires resources. Empty means every instance.', string('A name.')),
  namespaces: list(
    'Matching namespaces. The empty string matches resources without a namespace. Empty means every namespace.',
    string('A namespace.'),
  ),
  nonResourceURLs: list(
    'Matching URL paths. A wildcard (*) is allowed only as the whole last segment.',
    string('A path.'),
  ),
  requestTargets: list('Allowed targets. Empty means every target.', string('A target.', { enum: requestTargets })),
  cluster: string('Matches requests to this connected cluster only. Empty means no restriction.'),
  virtualClusters: list(
    'Matches requests to these virtual clusters only. Empty means no restriction.',
    object('A virtual cluster.', {
      name: string('Name of the virtual cluster; empty means all.'),
      namespace: string('Namespace of the virtual cluster; empty means all.'),
    }),
  ),
})

export const scopeSchema = object(
  'The maximum permissions of the holder: everything that one of the lists allows. Scopes only restrict. An empty scope allows only self-reviews and discovery.',
  {
    roles: list(
      'Predefined sets of permissions.',
      object('A role, optionally limited to projects or virtual clusters.', {
        role: string(
          'agent, vcluster, network-peer, runner, workspace, platformCLI, selfRotate or view. Beside view, the lists of projects, spaces and clusters say where the holder may read, and allow nothing else there but kube configs and tokens.',
        ),
        projects: list('Projects that the role is limited to; * means all.', string('A project.')),
        virtualClusters: list(
          'Virtual clusters that the role is limited to: PROJECT/NAME, or NAME within the projects; * means all.',
          string('A virtual cluster.'),
        ),
      }),
    ),
    projects: list(
      'Projects whose objects, spaces and virtual clusters are allowed.',
      object('A project.', { project: string('Name of the project; * means all.') }),
    ),
    spaces: list(
      'Spaces that are allowed.',
      object('A space.', { project: string('Name of the project.'), space: string('Name of the space; * means all.') }),
    ),
    virtualClusters: list(
      'Virtual clusters that are allowed, and their kube configs.',
      object('A virtual cluster.', {
        project: string('Name of the project.'),
        virtualCluster: string('Name of the virtual cluster; * means all.'),
      }),
    ),
    clusters: list(
      'Connected clusters that are allowed.',
      object('A connected cluster.', { cluster: string('Name of the cluster; * means all.') }),
    ),
    rules: list(
      'Rules in the style of RBAC, for permissions that no other list can express. A rule that another list can replace is deprecated.',
      rule,
    ),
    allowPlatformCli: boolean('Same as the role platformCLI.', { deprecated: 'spec.scope.roles' }),
  },
)

export type Scope = FromSchema<typeof scopeSchema>

/** The scopes that must all allow a request, the oldest first. Empty means unrestricted. */
export type ScopeChain = readonly Scope[]
