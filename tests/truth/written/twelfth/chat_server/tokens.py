class CharTokens:
    bos = 0

    def __init__(self, size=32):
        self.size = size

    def encode(self, text):
        return [self.bos] + [ord(c) % self.size for c in text.lower()]

    def decode(self, ids):
        return "".join(chr(96 + i) if 0 < i < 27 else "_" for i in ids)
