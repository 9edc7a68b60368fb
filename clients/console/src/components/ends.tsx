import type { AccessKey } from '../../../core/src/objects.ts'
import { Time } from './time.tsx'

/** Says when a key ends. */
export const Ends = ({ accessKey: { spec, status = {} } }: { accessKey: AccessKey }) =>
  status.expirationTimestamp ? (
    <span>
      <Time at={status.expirationTimestamp} direction="future" />
      {spec.ttlAfterLastActivity && status.phase !== 'Expired' && ' if not used'}
    </span>
  ) : (
    'never'
  )
