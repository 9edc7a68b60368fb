/** Declares what the page and the dialogs of its actions, which are loaded later, both know. */
import type { AccessKey } from '../../../../../core/src/objects.ts'

/** What the dialog of an action on a key gets. */
export interface ActionProps {
  /** The key as it was when the person chose the action. */
  accessKey: AccessKey
  refresh(): Promise<void>
  onClose(): void
}
