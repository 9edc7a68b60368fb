/** Lists the outcomes of the OAuth endpoints, as docs/audit.md explains them. Other modules import its types only. */

/** The rows of the page: outcomes, and what they mean. */
export const OUTCOMES = [
  [
    ['exchanged', 'accepted', 'revoked', 'nothing_revoked', 'foreign_token'],
    "it succeeded; nothing to revoke; a cluster's token that is not keyplane's",
  ],
  [['malformed', 'method'], 'not a form or token, not a POST'],
  [
    ['unknown_client', 'uid_mismatch', 'client_disabled', 'provider_missing', 'provider_disabled'],
    'no such trust or provider, one made again, or one disabled',
  ],
  [
    ['issuer', 'audience', 'algorithm', 'signature', 'provider_claims', 'tenancy'],
    'not a token of this issuer, for this audience, with this signature, or of your organization',
  ],
  [['expired', 'not_yet_valid', 'too_long', 'too_old', 'before_restore'], 'wrong times'],
  [['claim', 'event', 'username', 'scope'], "a claim, the job's event, the person's name or the scope is refused"],
  [['replayed', 'too_many_keys', 'ended', 'too_many_signatures'], 'used before, used too often, or ended'],
  [['target', 'target_required'], 'no token for this cluster, or a target is required'],
  [
    ['key_unknown', 'keys_unavailable', 'cluster', 'storage', 'failed'],
    "the issuer's keys, the cluster or the table failed",
  ],
] as const

/** What an endpoint did, for the audit record and the metrics. */
export type Outcome = (typeof OUTCOMES)[number][0][number]

/** Why a request was refused. */
export type RefusalReason = Exclude<Outcome, 'exchanged' | 'accepted' | 'revoked' | 'nothing_revoked'>
