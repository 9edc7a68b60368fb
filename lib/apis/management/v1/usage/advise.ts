/** Derives from what a key did which lines of its scopes it used, a smaller scope, and what else could be better. */
import { decodeKeyInternal } from '../../../../authentication/keyinternal.ts'
import { readSources } from '../../../../authentication/lastsources.ts'
import { adviseScope } from '../../../../authorization/usage/advice.ts'
import { findingsOf } from '../../../../authorization/usage/findings.ts'
import { usedLines } from '../../../../authorization/usage/lines.ts'
import { diffScopes } from '../../../../authorization/usage/scopediff.ts'
import type { Usage } from '../../../../authorization/usage/usage.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import { defined } from '../../../../meta/value/defined.ts'
import type { Stored } from '../../../../storage/interface.ts'
import { lastUseOf, lifeAt } from '../ownedaccesskey.status.ts'
import { scopesOf, specOf } from '../ownedaccesskey.values.ts'
import type { UsageServices } from '../services.ts'

/** Returns `lines`, `advice` and `findings` of the status. */
export function adviceFor(stored: Stored, usage: Usage, services: UsageServices, now: Date): JsonObject {
  const { scope, sourceCIDRs } = specOf(stored.object)
  const { carried } = decodeKeyInternal(stored.internal)
  const { scope: smaller, unknowns } = adviseScope(scope, usage, { ...services.scopes, inherited: carried })
  const { expires } = lifeAt(services.keys, stored, now)
  const last = lastUseOf(stored, now)
  const findings = findingsOf({
    now,
    created: new Date(stored.object.metadata.creationTimestamp ?? ''),
    networks: readSources(stored.noted?.sources).length,
    days: usage.days,
    isInherited: carried.length > 0,
    ...defined({
      expires: expires === undefined ? undefined : new Date(expires * 1000),
      lastActivity: last === undefined ? undefined : new Date(last),
      sourceCIDRs,
      scope,
    }),
  })
  return {
    lines: linesOf(stored, usage, services),
    advice: {
      ...(smaller && { scope: smaller as JsonObject, ...diffScopes(scope, smaller) }),
      unknowns: unknowns.map((one) => ({ ...one })),
    },
    findings: findings.map((one) => ({ ...one })),
  }
}

/** Returns the lines of every scope of the chain. Those of a key's only scope, its own, have no `chain[N]`. */
function linesOf(stored: Stored, usage: Usage, { scopes }: UsageServices): JsonObject[] {
  const chain = scopesOf(stored)
  const isOwn = chain.length === 1 && specOf(stored.object).scope !== undefined
  return chain.flatMap((scope, index) => {
    const at = isOwn ? '' : `chain[${index}].`
    return usedLines(scope, usage, scopes).map((one) => ({ ...one, line: `${at}${one.line}` }))
  })
}
