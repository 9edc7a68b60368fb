/**
 * Notes the last refusal of each trust beside it, so that its owner sees why a job got nothing. Only of ID tokens that the issuer
 * signed for the tenant of the trust: anybody can send others.
 */
import type { JsonObject } from '../../engine/meta/types.ts'
import { setBounded } from '../../engine/meta/value/bounded.ts'
import type { Storage } from '../../engine/storage/interface.ts'
import { FederatedIdentityCredential } from '../federatedidentitycredential.ts'
import type { IdToken } from '../idtoken.ts'
import { OAuthError } from '../oauth/oautherror.ts'
import type { Trust } from '../trust.ts'
import { shorten } from './exchangedkey.ts'

/** A process writes about a trust once in this time. In milliseconds. */
const INTERVAL = 60_000

/** The most trusts that a process remembers. */
const MOST_TRUSTS = 1000

export interface Refusals {
  /** Notes a refusal. Never rejects: the client gets its answer anyway. */
  note(trust: Trust, token: IdToken, refusal: OAuthError): Promise<void>
}

export interface RefusalServices {
  storage: Pick<Storage, 'touchActivity'>
  /** Unix ms. */
  now(): number
  /** Receives the error of a note that could not be written. */
  failed(error: unknown): void
}

export function createRefusals({ storage, now, failed }: RefusalServices): Refusals {
  /** When this process last wrote about a trust, by its uid. The latest is the last one. */
  const written = new Map<string, number>()
  return {
    async note({ name, uid }, { subject }, { reason, message }) {
      const at = now()
      if (at - (written.get(uid) ?? Number.NEGATIVE_INFINITY) < INTERVAL) return
      written.delete(uid)
      setBounded(written, uid, at, MOST_TRUSTS)
      const noted: JsonObject = { subject: shorten(subject), reason, message }
      const { table } = FederatedIdentityCredential
      await storage.touchActivity({ table, key: name, uid, at, noted }).catch(failed)
    },
  }
}

/** Reports whether the trust has refused the token, and not this service or a cluster failed. */
export const isRefusal = (error: unknown): error is OAuthError =>
  error instanceof OAuthError && error.code !== 'temporarily_unavailable'
