import { ApiError } from '../../api/status.ts'
import { ErrorNotice } from '../../components/notice.tsx'
import type { Way } from './ways.ts'

/** Says why there is no kube config, and what to do next. */
export function Refusal({ error, way, isVirtual }: { error: unknown; way: Way; isVirtual: boolean }) {
  const next = nextStep(error, way, isVirtual)
  return <ErrorNotice error={error}>{next && <p>{next}</p>}</ErrorNotice>
}

function nextStep(error: unknown, way: Way, isVirtual: boolean): string | undefined {
  if (!(error instanceof ApiError)) {
    return error instanceof DOMException ? 'The browser did not allow it. Download the file instead.' : undefined
  }
  const { code, message } = error
  if (way === 'certificate' && code === 403)
    return 'Choose a token: it carries the scope of your key, and ends with it.'
  if (code === 400 && /ingress endpoint/.test(message)) {
    return 'The virtual cluster has no address. An administrator sets it in spec.accessPoint.ingress.'
  }
  if (isVirtual && code >= 502) {
    return 'The server could not reach the virtual cluster in time. It may be starting. If this continues, ask its operator.'
  }
  return undefined
}
