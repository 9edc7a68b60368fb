/** Defines AccessKeyLookup, which says to whom the value of an access key belongs (docs/leaks.md). */

import { required } from '../engine/meta/errors/fielderror.ts'
import { invalidObject } from '../engine/meta/errors/status.ts'
import type { VirtualKind } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'
import { lookUp } from './accesskeylookup.find.ts'
import { spec, status } from './accesskeylookup.schema.ts'
import { checkFormat } from './credential/accesskey.ts'
import type { Services } from './services.ts'

const { group, kind } = KINDS.AccessKeyLookup

export const AccessKeyLookup: VirtualKind<Services> = {
  ...KINDS.AccessKeyLookup,
  description: 'Says which access key has or had a value, if you may read the key. A lookup is not a use of the value.',
  schema: { spec, status },
  async create({ object: asked, context }, services) {
    const { key = '' } = (asked.spec ?? {}) as { key?: string }
    const errors = key === '' ? [required('spec.key')] : checkFormat(key)
    if (errors.length > 0) throw invalidObject(group, kind, '', errors)
    const { apiVersion, metadata } = asked
    // Whatever else the client sent may repeat the value: a name, or what kubectl annotates.
    const { creationTimestamp } = metadata
    return {
      apiVersion,
      kind,
      metadata: { ...(creationTimestamp && { creationTimestamp }) },
      status: await lookUp(key, context, services),
    }
  },
}
