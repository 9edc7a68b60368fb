import { useEffect, useRef } from 'preact/hooks'
import type { AccessKey, KeyHistory } from '../../../../core/src/objects.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import type { KeyUsage } from '../../../../core/src/usage.ts'
import { isActive } from '../../api/keyfacts.ts'
import { Code } from '../../components/code.tsx'
import type { Query } from '../../session/usequery.ts'
import { type Json, toYaml } from '../../text/yaml.ts'
import type { KeyProps } from './actions/actionprops.ts'
import { HistoryCard } from './historycard.tsx'
import { AdviceCard } from './usage/advicecard.tsx'
import { FormerScopeCard } from './usage/formerscope.tsx'
import { UseCard } from './usage/usecard.tsx'
import { useBesides } from './usebesides.ts'

export interface FurtherCardsProps extends KeyProps {
  history: Query<KeyHistory>
}

/** Two columns: what the key did, and what happened to it. There is no advice about a key that does not work, or ends with its command. */
export function FurtherCards({ accessKey, history, refresh: readKey }: FurtherCardsProps) {
  const usage = useBesides<KeyUsage>(accessKey, 'usage')
  useAfterChange(accessKey, history.refresh)
  const refresh = async () => {
    void usage.refresh()
    void history.refresh()
    await readKey()
  }
  return (
    <>
      <div class="stack">
        <FormerScopeCard accessKey={accessKey} refresh={refresh} />
        <UseCard accessKey={accessKey} reading={usage} />
        {usage.data && isActive(accessKey) && !isSession(accessKey) && (
          <AdviceCard accessKey={accessKey} usage={usage.data} refresh={refresh} />
        )}
      </div>
      <div class="stack">
        <HistoryCard accessKey={accessKey} reading={history} />
        <details class="card">
          <summary>YAML</summary>
          <Code title="The object, without managedFields" text={yamlOf(accessKey)} />
        </details>
      </div>
    </>
  )
}

/** The server keeps what happened within a minute. */
const KEPT_MS = 65_000

/** Calls `read` after a change of the key, and again once the history has it. */
function useAfterChange({ metadata: { resourceVersion } }: AccessKey, read: () => unknown): void {
  const first = useRef(resourceVersion)
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    if (resourceVersion === first.current) return
    latest.current()
    const timer = setTimeout(() => latest.current(), KEPT_MS)
    return () => clearTimeout(timer)
  }, [resourceVersion])
}

/** Returns the object as the server has returned it: its value is in no answer to a read. */
function yamlOf(key: AccessKey): string {
  const { managedFields: _, ...metadata } = key.metadata as AccessKey['metadata'] & { managedFields?: unknown }
  return toYaml({ ...key, metadata } as unknown as Json)
}
