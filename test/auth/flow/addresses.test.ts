import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachOf } from '../../../src/auth/flow/addresses.ts'

const reaches = {
  public: [
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ],
  loopback: [
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ],
  private: [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
    ...['198.18.0.1', '192.0.2.1', '203.0.113.9', '224.0.0.1', '255.255.255.255'],
    ...['::', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd12::1', 'ff02::1', '2001:db8::1', '2001::1', '64:ff9b:1::1'],
    ...['::ffff:10.0.0.1', '64:ff9b::a9fe:a9fe', '2002:a00:1::', '2606:4700::5efe:a00:1', '2606:4700::200:5efe:c0a8:1'],
    ...['::7f00:1', 'localhost', '', '1.2.3', '0x7f.1', '2130706433'],
  ],
}

for (const [reach, addresses] of Object.entries(reaches))
  for (const address of addresses)
    test(`'${address}' is ${reach}`, () => {
      assert.equal(reachOf(address), reach)
    })
