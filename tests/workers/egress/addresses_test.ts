import { expect } from "@std/expect";
import { describeForbidden, isAddress } from "../../../workers/egress/addresses.ts";

Deno.test("public addresses are open, also those next to a closed range", () => {
  const open = [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
  ];
  for (const address of open) expect([address, describeForbidden(address)]).toEqual([address, null]);
});

Deno.test("special addresses are closed, with a reason", () => {
  const closed: Readonly<Record<string, string>> = {
    "0.0.0.0": "this network",
    "10.0.0.0": "private",
    "10.255.255.255": "private",
    "100.64.0.0": "CGNAT",
    "100.100.100.200": "CGNAT",
    "100.127.255.255": "CGNAT",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "168.63.129.16": "metadata",
    "169.254.169.254": "link-local",
    "172.16.0.0": "private",
    "172.31.255.255": "private",
    "192.0.0.192": "protocols",
    "192.0.2.1": "documentation",
    "192.88.99.1": "6to4",
    "192.168.255.255": "private",
    "198.19.255.255": "benchmarks",
    "198.51.100.1": "documentation",
    "203.0.113.1": "documentation",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "not a public address",
    "::1": "loopback",
    "::127.0.0.1": "not a public address",
    "::ffff:127.0.0.1": "mapped",
    "::ffff:8.8.8.8": "mapped",
    "::FFFF:A00:1": "mapped",
    "64:ff9b::7f00:1": "NAT64",
    "64:ff9b:1::a00:1": "NAT64",
    "100::1": "not a public address",
    "2001::1": "Teredo",
    "2001:db8::1": "documentation",
    "2001:0db8:ffff::1": "documentation",
    "2002:7f00:1::": "6to4",
    "2002:a9fe:a9fe::1": "6to4",
    "3fff::1": "documentation",
    "5f00::1": "not a public address",
    "fc00::1": "private",
    "fd00:ec2::254": "private",
    "fe80::1": "link-local",
    "fe80::1%eth0": "not an IP address",
    "fec0::1": "not a public address",
    "ff02::1": "multicast",
    "127.1": "not an IP address",
    "0177.0.0.1": "not an IP address",
    "256.1.1.1": "not an IP address",
    "example.com": "not an IP address",
    "": "not an IP address",
  };
  for (const [address, what] of Object.entries(closed)) {
    expect([address, describeForbidden(address)]).toEqual([address, expect.stringContaining(what)]);
  }
});

Deno.test("isAddress() tells an address from a name", () => {
  expect(["1.2.3.4", "::1", "2001:db8::1"].map(isAddress)).toEqual([true, true, true]);
  expect(["1.2.3", "a.b.c.d", "localhost", "::1%lo", "12345"].map(isAddress)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});
