/** Recognizes what a deployment and the local server make for themselves, which is nobody's work to finish or to tidy up. */
import { FIRST_KEY } from '../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey, Metadata } from '../../../core/src/objects.ts'

/** Reports whether bootstrap made the key. Others that look the same were made with a key, by an administrator. */
export const isFirstKey = ({ spec, status }: AccessKey): boolean =>
  status?.madeWith === undefined && spec.user === FIRST_KEY.user && spec.description === FIRST_KEY.description

/** Reports whether a key is that of the demo virtual cluster. A key of that user that may do more is not, whoever made it. */
const isDemoKey = ({ spec: { user, scope = {} } }: AccessKey): boolean =>
  user === 'vcluster-demo' &&
  Object.keys(scope).join() === 'roles' &&
  scope.roles?.every(({ role }) => role === 'vcluster') === true

/** Reports whether a key is the first one, or that of the demo virtual cluster. */
export const isServerMade = (key: AccessKey): boolean => isFirstKey(key) || isDemoKey(key)

/** Reports whether an object may be one of those with which `npm start` begins. */
export const isDemo = ({ name, namespace = 'p-demo' }: Metadata): boolean => name === 'demo' && namespace === 'p-demo'
