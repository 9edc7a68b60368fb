/** Names the parts of lib/ that schedules drive, so that copies without a rule can take their place. */

import { OwnedAccessKey } from '../../../../lib/apis/management/v1/ownedaccesskey.ts'
import { rotateKey } from '../../../../lib/apis/management/v1/rotation/ownedaccesskeyrotation.change.ts'
import { authenticate } from '../../../../lib/authentication/requests/authenticate.ts'
import { generationOf, valuesOf } from '../../../../lib/authentication/values/keyvalues.ts'
import { endLeaked } from '../../../../lib/authentication/values/leak.ts'
import { sweepExpired } from '../../../../lib/controllers/expirysweep.ts'
import { StatusError } from '../../../../lib/meta/errors/status.ts'
import { createObject } from '../../../../lib/registry/create.ts'
import { deleteObject } from '../../../../lib/registry/delete.ts'
import { updateObject } from '../../../../lib/registry/update.ts'
import { authenticationDeps } from '../../../../lib/server/authentication.ts'
import { readValue } from '../../../../lib/server/leaks/findvalues.ts'
import { StorageError } from '../../../../lib/storage/errors.ts'
import { ItemsFault } from '../../../../lib/storage/items.ts'
import { storageOver } from '../../../../lib/storage/protocol/storage.ts'

export const subject = {
  ItemsFault,
  OwnedAccessKey,
  StatusError,
  StorageError,
  authenticate,
  authenticationDeps,
  createObject,
  deleteObject,
  endLeaked,
  generationOf,
  readValue,
  rotateKey,
  storageOver,
  sweepExpired,
  updateObject,
  valuesOf,
}

export type Subject = typeof subject
