/** Lists what people do first with a new deployment, who may do it, and when it is done. */
import { DAY_MS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { DocumentationPage } from '../../../../core/src/documentation.ts'
import type { AccessKey, Self } from '../../../../core/src/objects.ts'
import { isActive } from '../../api/keyfacts.ts'
import { isFirstKey, isServerMade } from '../../api/servermade.ts'
import { hrefOf } from '../../text/routes.ts'
import type { Facts } from './readfacts.ts'
import { isAdministrator } from './remembered.ts'

export interface State extends Facts {
  self: Self
  /** Whether the person has signed in with an identity provider. */
  isFederated: boolean
  /** Whether people can do so here. */
  hasSignIn: boolean
  /** Whether the server runs on this machine, and begins with a demo. */
  isLocal: boolean
  keys: readonly AccessKey[]
  now: Date
}

export interface Step {
  title: string
  text: string
  link?: { text: string; href: string }
  /** The page of the documentation. */
  docs: DocumentationPage
  /** Reports whether the person may do it. */
  isAllowed(state: State): boolean
  isDone(state: State): boolean
}

const hasScope = ({ accessKeyScope }: Self): boolean => accessKeyScope !== undefined

/** Reports whether the key belongs to a cluster, which asks this API with it. */
const isOfCluster = ({ spec }: AccessKey): boolean =>
  spec.scope?.roles?.some(({ role }) => role === 'agent' || role === 'vcluster') === true

/** Reports whether `keyplane run` made the key. Only commands set labels of this prefix. */
const isOfCommand = ({ metadata }: AccessKey): boolean =>
  Object.keys(metadata.labels ?? {}).some((label) => label.startsWith('keyplane/'))

/** Returns the keys that work and that somebody made. Those of exchanges belong to a trust, those of sessions to a command. */
const made = ({ keys }: State): AccessKey[] =>
  keys.filter(
    (key) => isActive(key) && !isServerMade(key) && !isOfCommand(key) && !key.metadata.ownerReferences?.length,
  )

export const steps: readonly Step[] = [
  {
    title: 'A key for a job',
    text: 'Give each CI job and each program a key of its own, which may do only what the job does.',
    link: { text: 'New key', href: hrefOf('new-key') },
    docs: 'access-keys',
    isAllowed: ({ self }) => !hasScope(self),
    isDone: (state) => made(state).some((key) => !isOfCluster(key) && key.spec.scope !== undefined),
  },
  {
    title: 'CI without a secret',
    text: 'With a trust, each run of a job gets a key of its own for the ID token of its platform. The job stores nothing.',
    link: { text: 'New trust', href: hrefOf('new-trust') },
    docs: 'ci',
    isAllowed: ({ self, isFederated, hasProvider, hasTrust }) =>
      hasTrust !== undefined &&
      !hasScope(self) &&
      // A key that expires makes no trust, unless its holder has just signed in.
      (self.expirationTimestamp === undefined || isFederated) &&
      (isAdministrator(self) || hasProvider === true),
    isDone: ({ hasTrust }) => hasTrust === true,
  },
  {
    title: 'A key of your own',
    text: 'The first key may do everything and never expires. Make a key for yourself, sign in with it, and leave the first key where it is stored, for emergencies. The step is done when nobody has used the first key for a day.',
    link: { text: 'New key', href: hrefOf('new-key') },
    docs: 'operating',
    isAllowed: ({ self }) => isAdministrator(self),
    isDone: ({ self, keys, now, isLocal }) =>
      keys
        .filter((key) => isActive(key) && isFirstKey(key))
        .every(({ metadata, status }) => {
          // The local server itself uses its first key.
          const isUsed = !isLocal && now.getTime() - Date.parse(status?.lastActivity ?? '') < DAY_MS
          return metadata.uid !== self.uid && !isUsed
        }),
  },
  {
    title: 'Sign-in with your company',
    text: 'People sign in to the console with the identity provider of the company, and need no key.',
    docs: 'console',
    isAllowed: ({ self }) => isAdministrator(self),
    isDone: ({ hasSignIn }) => hasSignIn,
  },
  {
    title: 'A cluster',
    text: 'Register a virtual cluster, or connect a cluster of your own or in EKS. Then people get kube configs and tokens for it here.',
    link: { text: 'Virtual clusters', href: hrefOf('virtual-clusters') },
    docs: 'clusters',
    isAllowed: ({ self, hasVirtualCluster }) => hasVirtualCluster !== undefined && isAdministrator(self),
    isDone: (state) => state.hasVirtualCluster === true || made(state).some(isOfCluster),
  },
]
