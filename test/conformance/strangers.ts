/** Defines kinds that have nothing to do with keys, and translates the scenarios to them: the engine alone answers as kube-apiserver. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { serve } from '../../lib/engine/example/serve.ts'
import { boolean, int64, list, map, object, string, time } from '../../lib/engine/meta/schema/schema.ts'
import { column } from '../../lib/engine/registry/column.ts'
import type { StoredKind } from '../../lib/engine/registry/kind.ts'
import { createMemoryItems } from '../support/memoryitems.ts'
import type { Json, Scenario } from './scenario.ts'
import type { Started } from './suite.ts'

const names = {
  displayName: string('The name that people see.'),
  description: string('What it is for.'),
}

const Widget: StoredKind = {
  archetype: 'stored',
  group: 'example.test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  singular: 'widget',
  scope: 'Cluster',
  description: 'A widget.',
  schema: {
    spec: object('What the widget should be.', {
      ...names,
      user: string('Who has it.'),
      team: string('Which team has it.'),
      subject: string('What has it.'),
      groups: list('What it is sorted into.', string('A group.')),
      disabled: boolean('Whether it is switched off.'),
      ttl: int64('How long it lasts.', { minimum: 0 }),
      scope: object('Where it counts.', {
        roles: list(
          'As what.',
          object('A role.', { role: string('Its name.'), projects: list('For which projects.', string('A project.')) }),
        ),
      }),
      type: string('Its type.', {
        enum: ['', 'Login', 'User', 'Other', 'Reset', 'OIDCRefreshToken', 'NetworkPeer', 'Workspace'],
      }),
      identity: object('Who made it.', {
        email: string('An address.'),
        emailVerified: boolean('Whether the address is right.'),
        extraClaims: map('More about them.', string('A text.')),
        groups: list('What they are sorted into.', string('A group.')),
        identityRefresh: time('When that was checked last.'),
      }),
      identityRefresh: time('When they were asked last.'),
    }),
    status: object('What the widget is.', { lastActivity: time('When it was used last.') }),
  },
  table: { resource: 'widgets', partitions: () => [], activity: false },
  columns: [column('Disabled', 'spec.disabled', 'Whether it is switched off.', { type: 'boolean', absent: false })],
  selectableFields: ['spec.user', 'spec.disabled'],
  strategy: () => ({ access: () => ({ type: 'allowed' }), mayRefer: () => undefined }),
}

const Gadget: StoredKind = {
  ...Widget,
  kind: 'Gadget',
  plural: 'gadgets',
  singular: 'gadget',
  scope: 'Namespaced',
  description: 'A gadget in a namespace.',
  schema: {
    spec: object('What the gadget should be.', {
      ...names,
      owner: object('Who has it.', { user: string('A person.'), team: string('A team.') }),
      access: list(
        'Who else may use it.',
        object('A rule.', {
          verbs: list('What they may do.', string('A verb.')),
          subresources: list('With which parts.', string('A part.', { enum: ['kubeconfig', 'status'] })),
          users: list('Who may do it.', string('A person.')),
          teams: list('Which teams may.', string('A team.')),
        }),
      ),
      accessPoint: object('Where it is reached.', {
        ingress: object('Its address.', {
          enabled: boolean('Whether it has one.'),
          host: string('The host.', { maxLength: 253 }),
        }),
      }),
      certificateAuthorityData: string('A text.', { maxLength: 65536 }),
      clusterRef: object('Where it is.', {
        cluster: string('The place.'),
        namespace: string('A part of it.'),
        virtualCluster: string('A part of that.'),
      }),
      credentialsSecretRef: object('What opens it.', { secretName: string('A name.') }),
    }),
    status: object('What the gadget is.', {
      phase: string('In one word.'),
      reason: string('Why.'),
      message: string('Why, for people.'),
      conditions: list(
        'In detail.',
        object(
          'A condition.',
          {
            scope: object('Where it counts.', {
              roles: list(
                'As what.',
                object('A role.', {
                  role: string('Its name.'),
                  projects: list('For which projects.', string('A project.')),
                }),
              ),
            }),
            type: string('Its type.'),
            status: string('Whether it holds.'),
            severity: string('How bad that is.'),
            reason: string('Why.'),
            message: string('Why, for people.'),
            lastTransitionTime: time('Since when.'),
            observedGeneration: int64('Of which generation.'),
          },
          { required: ['type'] },
        ),
        { listType: 'map', keys: ['type'] },
      ),
    }),
  },
  table: { resource: 'gadgets', partitions: () => [], activity: false },
  columns: [],
  selectableFields: [],
}

/** The words of the recorded scenarios, each with the one of these kinds. */
const words: readonly (readonly [string, string])[] = [
  ['management.platform', Widget.group],
  ['OwnedAccessKey', Widget.kind],
  ['ownedaccesskey', Widget.singular],
  ['VirtualClusterInstance', Gadget.kind],
  ['virtualclusterinstance', Gadget.singular],
]

/** Returns a scenario about these kinds. */
export function translated(scenario: Scenario): Scenario {
  const text = words.reduce((all, [from, to]) => all.replaceAll(from, to), JSON.stringify(scenario))
  return JSON.parse(text, (name, value: Json) => (name === 'lines' && Array.isArray(value) ? value.sort() : value))
}

type Looks = Partial<Pick<StoredKind, 'schema' | 'selectableFields'>>

/** Starts the example of the engine with these kinds, which can have other fields. */
export async function startStrangers(like: { cluster?: Looks; namespaced?: Looks } = {}): Promise<Started> {
  const kinds = [
    { ...Widget, ...like.cluster },
    { ...Gadget, ...like.namespaced },
  ]
  const server = serve(kinds, createMemoryItems(Date.now)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const subject = { base: `http://127.0.0.1:${port}`, group: Widget.group, certificateAuthority: '', tokens: {} }
  return { subject, stop: () => void server.close().closeAllConnections() }
}
