/**
 * What is used of @peculiar/x509, behind the metadata that it wants to find. A lazy import of this module brings that into
 * the bundles, one of the package would bring all of it.
 */
import 'reflect-metadata'

export { Name, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
