class Clock:
    def __init__(self, quota=14, slow=9):
        self.quota, self.slow, self.banked = quota, slow, 0
        self.moves = 0

    def punch(self, plies_used):
        self.moves += plies_used
        self.banked += max(0, self.quota - plies_used)

    def depth(self):
        return 1 + (self.banked >= self.slow) + (self.banked >= 2 * self.slow)
